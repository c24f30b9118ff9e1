// The slider and the play button under the picture of an arm. No library.
(function(){
var d=JSON.parse(document.getElementById('arm-data').textContent);
var limbs=document.getElementById('arm-body').children,bones=document.getElementById('arm-bones');
var slider=document.getElementById('arm-time'),told=document.getElementById('arm-told'),button=document.getElementById('arm-play');
var last=d.t.length-1,timer=null;
function show(){
var k=+slider.value,posture=d.body[k];
for(var i=0;i<posture.length;i++)for(var j=0;j<2;j++){
var line=limbs[2*i+j],v=posture[i];
line.setAttribute('x1',v[0]);line.setAttribute('y1',v[1]);line.setAttribute('x2',v[2]);line.setAttribute('y2',v[3]);
line.setAttribute('stroke-width',v[4]+(j?0:2));
}
bones.setAttribute('points',d.bones[k].join(' '));
told.textContent=d.t[k].toFixed(1)+' s of '+d.t[last].toFixed(1)+' s';
}
function stop(){clearInterval(timer);timer=null;button.textContent='Play'}
slider.oninput=function(){stop();show()};
button.onclick=function(){
if(timer){stop();return}
button.textContent='Stop';
if(+slider.value===last)slider.value=0;
timer=setInterval(function(){slider.value=+slider.value+1;show();if(+slider.value===last)stop()},80);
};
show();
})();
