// Choose one trial on the map; sort tables by a click on a heading. No library.
(function(){
var map=document.getElementById('map'),data=document.getElementById('trials');
if(map&&data){
var info=JSON.parse(data.textContent),select=document.getElementById('trial'),out=document.getElementById('told');
var own=map.querySelector('.own');
var pick=function(k){
var charts=document.querySelectorAll('svg.pickable'),all=[map].concat(Array.from(charts));
all.forEach(function(m){m.querySelectorAll('.on').forEach(function(e){e.classList.remove('on')})});
var t=info[k];map.classList.toggle('picking',!!t);
charts.forEach(function(m){m.classList.toggle('picking',!!t&&!!m.querySelector('[data-trial="'+k+'"]'))});select.value=t?k:'';
own.innerHTML='';out.textContent=t?t.text:'';
if(!t)return;
(t.paths||[]).forEach(function(p){var e=document.createElementNS('http://www.w3.org/2000/svg','path');e.setAttribute('class',p[0]);e.setAttribute('d',p[1]);own.appendChild(e)});
all.forEach(function(m){m.querySelectorAll('[data-trial="'+k+'"]').forEach(function(e){e.classList.add('on');e.parentNode.appendChild(e)})})};
var step=function(by){var n=select.options.length;select.selectedIndex=(select.selectedIndex+by+n)%n;pick(select.value)};
select.onchange=function(){pick(select.value)};
document.getElementById('before').onclick=function(){step(-1)};
document.getElementById('after').onclick=function(){step(1)};
map.addEventListener('click',function(e){var k=e.target.getAttribute('data-trial');pick(k&&k!==select.value?k:'')});
}
document.querySelectorAll('table.sorted').forEach(function(table){
table.querySelectorAll('th').forEach(function(th,i){th.onclick=function(){
var up=th.getAttribute('aria-sort')!=='ascending',body=table.tBodies[0],rows=Array.from(body.rows);
var value=function(r){var c=r.cells[i],v=c.getAttribute('data-v');return v===null?c.textContent:parseFloat(v)};
rows.sort(function(a,b){var x=value(a),y=value(b);if(x!==x)return 1;if(y!==y)return -1;return (x<y?-1:x>y?1:0)*(up?1:-1)});
rows.forEach(function(r){body.appendChild(r)});
table.querySelectorAll('th').forEach(function(o){o.removeAttribute('aria-sort')});
th.setAttribute('aria-sort',up?'ascending':'descending')}})});
})();
